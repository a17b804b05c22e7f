-- CreateEnum
CREATE TYPE "IpPolicyAction" AS ENUM ('ALLOW', 'DENY');

-- AlterTable
ALTER TABLE "edge" ADD COLUMN     "ip_restriction" BOOLEAN,
ADD COLUMN     "tls_termination" JSONB,
ADD COLUMN     "traffic_policy" JSONB;

-- AlterTable
ALTER TABLE "endpoint" ALTER COLUMN "node_id" DROP NOT NULL;

-- AlterTable
ALTER TABLE "reserved_domain" ADD COLUMN     "certificate_id" TEXT COLLATE "C";

-- AlterTable
ALTER TABLE "route" ADD COLUMN     "basic_auth" JSONB,
ADD COLUMN     "compression" JSONB,
ADD COLUMN     "ip_restriction" BOOLEAN,
ADD COLUMN     "request_headers" JSONB,
ADD COLUMN     "response_headers" JSONB,
ADD COLUMN     "traffic_policy" JSONB,
ADD COLUMN     "user_agent_filter" JSONB,
ADD COLUMN     "webhook_verification" JSONB,
ADD COLUMN     "websocket_tcp_converter" JSONB;

-- CreateTable
CREATE TABLE "tls_certificate" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL DEFAULT '',
    "certificate_pem" TEXT NOT NULL,
    "private_key" TEXT NOT NULL,
    "subject" JSONB NOT NULL,
    "dns_names" TEXT[],
    "ips" TEXT[],
    "issuer_common_name" TEXT NOT NULL,
    "serial_number" TEXT NOT NULL,
    "private_key_type" TEXT NOT NULL,
    "key_usages" TEXT[],
    "extended_key_usages" TEXT[],
    "not_before" TIMESTAMPTZ(3) NOT NULL,
    "not_after" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "tls_certificate_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ip_policy" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ip_policy_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ip_policy_rule" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "policy_id" TEXT COLLATE "C" NOT NULL,
    "cidr" TEXT NOT NULL,
    "action" "IpPolicyAction" NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ip_policy_rule_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "edge_ip_policy" (
    "edge_id" TEXT COLLATE "C" NOT NULL,
    "policy_id" TEXT COLLATE "C" NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "edge_ip_policy_pkey" PRIMARY KEY ("edge_id","policy_id")
);

-- CreateTable
CREATE TABLE "route_ip_policy" (
    "route_id" TEXT COLLATE "C" NOT NULL,
    "policy_id" TEXT COLLATE "C" NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "route_ip_policy_pkey" PRIMARY KEY ("route_id","policy_id")
);

-- CreateIndex
CREATE INDEX "tls_certificate_account_id_id_idx" ON "tls_certificate"("account_id", "id");

-- CreateIndex
CREATE INDEX "ip_policy_account_id_id_idx" ON "ip_policy"("account_id", "id");

-- CreateIndex
CREATE INDEX "ip_policy_rule_account_id_id_idx" ON "ip_policy_rule"("account_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "ip_policy_rule_policy_id_cidr_key" ON "ip_policy_rule"("policy_id", "cidr");

-- CreateIndex
CREATE INDEX "edge_ip_policy_policy_id_idx" ON "edge_ip_policy"("policy_id");

-- CreateIndex
CREATE INDEX "route_ip_policy_policy_id_idx" ON "route_ip_policy"("policy_id");

-- CreateIndex
CREATE UNIQUE INDEX "endpoint_edge_id_hostport_key" ON "endpoint"("edge_id", "hostport");

-- CreateIndex
CREATE INDEX "reserved_domain_certificate_id_idx" ON "reserved_domain"("certificate_id");

-- AddForeignKey
ALTER TABLE "reserved_domain" ADD CONSTRAINT "reserved_domain_certificate_id_fkey" FOREIGN KEY ("certificate_id") REFERENCES "tls_certificate"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ip_policy_rule" ADD CONSTRAINT "ip_policy_rule_policy_id_fkey" FOREIGN KEY ("policy_id") REFERENCES "ip_policy"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "edge_ip_policy" ADD CONSTRAINT "edge_ip_policy_edge_id_fkey" FOREIGN KEY ("edge_id") REFERENCES "edge"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "edge_ip_policy" ADD CONSTRAINT "edge_ip_policy_policy_id_fkey" FOREIGN KEY ("policy_id") REFERENCES "ip_policy"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "route_ip_policy" ADD CONSTRAINT "route_ip_policy_route_id_fkey" FOREIGN KEY ("route_id") REFERENCES "route"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "route_ip_policy" ADD CONSTRAINT "route_ip_policy_policy_id_fkey" FOREIGN KEY ("policy_id") REFERENCES "ip_policy"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "endpoint" ADD CONSTRAINT "endpoint_edge_id_fkey" FOREIGN KEY ("edge_id") REFERENCES "edge"("id") ON DELETE CASCADE ON UPDATE CASCADE;
