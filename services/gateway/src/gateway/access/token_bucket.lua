-- A token bucket: https://en.wikipedia.org/wiki/Token_bucket
-- KEYS[1] the bucket; ARGV: tokens added per second, capacity, tokens to take (at most the capacity).
-- Returns {1 when they were taken, tokens left, milliseconds until there are as many again}.
local rate, capacity = tonumber(ARGV[1]), tonumber(ARGV[2])
local need = math.min(tonumber(ARGV[3]), capacity)
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1e6
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = tonumber(bucket[1]) or capacity
local passed = math.max(0, now - (tonumber(bucket[2]) or now))
tokens = math.min(capacity, tokens + passed * rate)
local taken = 0
if tokens >= need then
    tokens = tokens - need
    taken = 1
end
redis.call('HSET', KEYS[1], 'tokens', tostring(tokens), 'at', string.format('%.6f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil(1000 * capacity / rate) + 1000)
return {taken, math.floor(tokens), math.ceil(1000 * math.max(0, need - tokens) / rate)}
