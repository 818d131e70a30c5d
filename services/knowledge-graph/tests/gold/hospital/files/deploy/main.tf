terraform {
  required_providers {
    aws = { source = "hashicorp/aws" }
  }
}

resource "aws_db_instance" "chart_db" {
  identifier = "chart-db"
  engine     = "postgres"
}

resource "aws_ecs_service" "medication_chart" {
  name            = "medication-chart"
  task_definition = aws_ecs_task_definition.medication_chart.arn
  depends_on      = [aws_db_instance.chart_db]
  tags = {
    team = "pharmacy-systems"
  }
}

resource "aws_ecs_task_definition" "medication_chart" {
  family = "medication-chart"
  container_definitions = jsonencode([{
    name = "medication-chart"
    environment = [
      { name = "FORMULARY_URL", value = "http://formulary:8080" },
      { name = "DB_HOST", value = aws_db_instance.chart_db.address }
    ]
  }])
}
