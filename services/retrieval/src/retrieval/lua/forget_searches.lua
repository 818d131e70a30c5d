-- Deletes every cached answer of a workspace, and rejects those of an older generation from now on.
-- KEYS: the workspace's answers by expiry; the oldest generation whose answers may be cached.
-- ARGV: that generation, milliseconds to remember it for.
-- Returns {answers deleted, answers left}.
local known = tonumber(redis.call('GET', KEYS[2]) or 0)
redis.call('SET', KEYS[2], string.format('%.0f', math.max(known, tonumber(ARGV[1]))), 'PX', ARGV[2])
local removed = 0
for _, answer in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
    removed = removed + redis.call('DEL', answer)
end
redis.call('DEL', KEYS[1])
return {removed, redis.call('ZCARD', KEYS[1])}
