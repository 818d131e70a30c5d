module brackwater.example/matchmaker

go 1.22

require (
	github.com/segmentio/kafka-go v0.4.47
	github.com/redis/go-redis/v9 v9.5.1
	golang.org/x/sync v0.7.0 // indirect
)
