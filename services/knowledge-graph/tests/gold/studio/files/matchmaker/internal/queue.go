// Package internal keeps the queue of the matchmaker.
package internal

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
	"brackwater.example/matchmaker/rating"
)

// Queue holds players in queue-redis until an opponent is found.
type Queue struct {
	client *redis.Client
	skills rating.Skills
}

func (q *Queue) Add(ctx context.Context, player string) error {
	return q.client.ZAdd(ctx, "queue", redis.Z{Score: float64(time.Now().Unix()), Member: player}).Err()
}
