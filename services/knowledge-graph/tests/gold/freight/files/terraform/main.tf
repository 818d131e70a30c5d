resource "aws_db_instance" "track_db" {
  engine = "postgres"
  tags = {
    team = "visibility"
  }
}

resource "aws_elasticache_cluster" "geo_cache" {
  engine = "redis"
}

resource "aws_s3_bucket" "pod_scans" {
  bucket = "pod-scans"
}

resource "aws_ecs_service" "geo_fence" {
  name = "geo-fence"
  tags = {
    team = "mobile"
  }
  depends_on = [aws_elasticache_cluster.geo_cache]
}

resource "aws_lambda_function" "proof_of_delivery" {
  function_name = "proof-of-delivery"
  environment {
    variables = {
      BUCKET      = aws_s3_bucket.pod_scans.id
      TRACKER_URL = "http://parcel-tracker:8080"
    }
  }
}
