module "edge" {
  source     = "./modules/service"
  name       = "edge"
  upstreams  = ["matchmaker", "chatd"]
}

resource "google_redis_instance" "rating_redis" {
  name = "rating-redis"
}

resource "google_cloud_run_v2_service" "ratingsvc" {
  name = "ratingsvc"
  labels = { squad = "arena" }
  template {
    containers {
      image = "ghcr.example/brackwater/ratingsvc"
      env {
        name  = "REDIS_HOST"
        value = google_redis_instance.rating_redis.host
      }
    }
  }
}
