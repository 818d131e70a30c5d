-- Caches the answer of a search, unless its index is older than the last deletion.
-- KEYS: the answer; the workspace's answers by expiry; the oldest generation whose answers may be cached.
-- ARGV: the answer's generation, the answer, milliseconds to keep it, the most answers of a workspace.
-- Returns 1 if it was cached.
local least = redis.call('GET', KEYS[3])
if least and tonumber(ARGV[1]) < tonumber(least) then
    return 0
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local milliseconds = tonumber(ARGV[3])
redis.call('SET', KEYS[1], ARGV[2], 'PX', milliseconds)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now))
redis.call('ZADD', KEYS[2], string.format('%.0f', now + milliseconds), KEYS[1])
local over = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[4])
if over > 0 then
    local popped = redis.call('ZPOPMIN', KEYS[2], over)
    for position = 1, #popped, 2 do
        redis.call('DEL', popped[position])
    end
end
local left = redis.call('PTTL', KEYS[2])
if left < milliseconds then
    redis.call('PEXPIRE', KEYS[2], milliseconds)
end
return 1
