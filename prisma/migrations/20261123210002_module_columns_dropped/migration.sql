-- AlterTable
ALTER TABLE "edge" DROP COLUMN "ip_restriction",
DROP COLUMN "mutual_tls_enabled",
DROP COLUMN "tls_termination",
DROP COLUMN "traffic_policy";

-- AlterTable
ALTER TABLE "route" DROP COLUMN "basic_auth",
DROP COLUMN "circuit_breaker",
DROP COLUMN "compression",
DROP COLUMN "ip_restriction",
DROP COLUMN "request_headers",
DROP COLUMN "response_headers",
DROP COLUMN "traffic_policy",
DROP COLUMN "user_agent_filter",
DROP COLUMN "webhook_verification",
DROP COLUMN "websocket_tcp_converter";
