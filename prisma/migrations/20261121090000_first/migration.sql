-- CreateEnum
CREATE TYPE "OwnerKind" AS ENUM ('USER', 'BOT');

-- CreateEnum
CREATE TYPE "Role" AS ENUM ('ADMIN', 'MEMBER');

-- CreateEnum
CREATE TYPE "EdgeKind" AS ENUM ('HTTPS', 'TLS');

-- CreateEnum
CREATE TYPE "MatchType" AS ENUM ('EXACT_PATH', 'PATH_PREFIX');

-- CreateEnum
CREATE TYPE "EndpointType" AS ENUM ('EPHEMERAL', 'EDGE');

-- CreateTable
CREATE TABLE "account" (
    "id" TEXT COLLATE "C" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "account_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "owner" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "kind" "OwnerKind" NOT NULL,
    "subject" TEXT NOT NULL,
    "role" "Role" NOT NULL,
    "active" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "owner_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_key" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "owner_id" TEXT COLLATE "C" NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL DEFAULT '',
    "digest" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "api_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "credential" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "owner_id" TEXT COLLATE "C" NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL DEFAULT '',
    "acl" TEXT[],
    "digest" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "credential_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "reserved_domain" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "domain" TEXT NOT NULL,
    "region" TEXT NOT NULL DEFAULT '',
    "description" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL DEFAULT '',
    "cname_target" TEXT,
    "acme_challenge_cname_target" TEXT,
    "certificate_policy" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "reserved_domain_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "edge" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "kind" "EdgeKind" NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL DEFAULT '',
    "mutual_tls_enabled" BOOLEAN,
    "backend_enabled" BOOLEAN,
    "backend_id" TEXT COLLATE "C",
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "edge_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "edge_hostport" (
    "hostport" TEXT NOT NULL,
    "edge_id" TEXT COLLATE "C" NOT NULL,
    "domain_id" TEXT COLLATE "C" NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "edge_hostport_pkey" PRIMARY KEY ("hostport")
);

-- CreateTable
CREATE TABLE "mutual_tls_authority" (
    "edge_id" TEXT COLLATE "C" NOT NULL,
    "authority_id" TEXT COLLATE "C" NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "mutual_tls_authority_pkey" PRIMARY KEY ("edge_id","authority_id")
);

-- CreateTable
CREATE TABLE "route" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "edge_id" TEXT COLLATE "C" NOT NULL,
    "match_type" "MatchType" NOT NULL,
    "match" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL DEFAULT '',
    "circuit_breaker" JSONB,
    "backend_enabled" BOOLEAN,
    "backend_id" TEXT COLLATE "C",
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "route_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "backend" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL DEFAULT '',
    "labels" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "backend_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "certificate_authority" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL DEFAULT '',
    "ca_pem" TEXT NOT NULL,
    "subject_common_name" TEXT NOT NULL,
    "not_before" TIMESTAMPTZ(3) NOT NULL,
    "not_after" TIMESTAMPTZ(3) NOT NULL,
    "key_usages" TEXT[],
    "extended_key_usages" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "certificate_authority_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "event_destination" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL DEFAULT '',
    "format" TEXT NOT NULL,
    "target" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "event_destination_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "event_subscription" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "event_subscription_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "event_source" (
    "subscription_id" TEXT COLLATE "C" NOT NULL,
    "type" TEXT NOT NULL,

    CONSTRAINT "event_source_pkey" PRIMARY KEY ("subscription_id","type")
);

-- CreateTable
CREATE TABLE "subscription_destination" (
    "subscription_id" TEXT COLLATE "C" NOT NULL,
    "destination_id" TEXT COLLATE "C" NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "subscription_destination_pkey" PRIMARY KEY ("subscription_id","destination_id")
);

-- CreateTable
CREATE TABLE "node" (
    "id" TEXT COLLATE "C" NOT NULL,
    "lease_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "node_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tunnel_session" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "node_id" TEXT COLLATE "C" NOT NULL,
    "credential_id" TEXT COLLATE "C",
    "agent_version" TEXT NOT NULL DEFAULT '',
    "ip" TEXT NOT NULL DEFAULT '',
    "os" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL DEFAULT '',
    "region" TEXT NOT NULL DEFAULT '',
    "transport" TEXT NOT NULL DEFAULT '',
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "tunnel_session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tunnel" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "session_id" TEXT COLLATE "C" NOT NULL,
    "proto" TEXT,
    "public_url" TEXT,
    "labels" JSONB NOT NULL DEFAULT '{}',
    "forwards_to" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL DEFAULT '',
    "region" TEXT NOT NULL DEFAULT '',
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "tunnel_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "endpoint" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "node_id" TEXT COLLATE "C" NOT NULL,
    "type" "EndpointType" NOT NULL,
    "proto" TEXT NOT NULL,
    "public_url" TEXT NOT NULL,
    "hostport" TEXT NOT NULL,
    "metadata" TEXT NOT NULL DEFAULT '',
    "region" TEXT NOT NULL DEFAULT '',
    "domain_id" TEXT COLLATE "C",
    "tunnel_id" TEXT COLLATE "C",
    "edge_id" TEXT COLLATE "C",
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "endpoint_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotent_answer" (
    "owner_id" TEXT COLLATE "C" NOT NULL,
    "key" TEXT NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "answer" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotent_answer_pkey" PRIMARY KEY ("owner_id","key")
);

-- CreateTable
CREATE TABLE "setting" (
    "name" TEXT NOT NULL,
    "value" TEXT NOT NULL,

    CONSTRAINT "setting_pkey" PRIMARY KEY ("name")
);

-- CreateIndex
CREATE INDEX "owner_account_id_kind_id_idx" ON "owner"("account_id", "kind", "id");

-- CreateIndex
CREATE UNIQUE INDEX "owner_account_id_kind_subject_key" ON "owner"("account_id", "kind", "subject");

-- CreateIndex
CREATE UNIQUE INDEX "api_key_digest_key" ON "api_key"("digest");

-- CreateIndex
CREATE INDEX "api_key_account_id_id_idx" ON "api_key"("account_id", "id");

-- CreateIndex
CREATE INDEX "api_key_owner_id_idx" ON "api_key"("owner_id");

-- CreateIndex
CREATE UNIQUE INDEX "credential_digest_key" ON "credential"("digest");

-- CreateIndex
CREATE INDEX "credential_account_id_id_idx" ON "credential"("account_id", "id");

-- CreateIndex
CREATE INDEX "credential_owner_id_idx" ON "credential"("owner_id");

-- CreateIndex
CREATE UNIQUE INDEX "reserved_domain_domain_key" ON "reserved_domain"("domain");

-- CreateIndex
CREATE UNIQUE INDEX "reserved_domain_cname_target_key" ON "reserved_domain"("cname_target");

-- CreateIndex
CREATE UNIQUE INDEX "reserved_domain_acme_challenge_cname_target_key" ON "reserved_domain"("acme_challenge_cname_target");

-- CreateIndex
CREATE INDEX "reserved_domain_account_id_id_idx" ON "reserved_domain"("account_id", "id");

-- CreateIndex
CREATE INDEX "edge_account_id_kind_id_idx" ON "edge"("account_id", "kind", "id");

-- CreateIndex
CREATE INDEX "edge_backend_id_idx" ON "edge"("backend_id");

-- CreateIndex
CREATE INDEX "edge_hostport_edge_id_idx" ON "edge_hostport"("edge_id");

-- CreateIndex
CREATE INDEX "edge_hostport_domain_id_idx" ON "edge_hostport"("domain_id");

-- CreateIndex
CREATE INDEX "mutual_tls_authority_authority_id_idx" ON "mutual_tls_authority"("authority_id");

-- CreateIndex
CREATE INDEX "route_account_id_id_idx" ON "route"("account_id", "id");

-- CreateIndex
CREATE INDEX "route_backend_id_idx" ON "route"("backend_id");

-- CreateIndex
CREATE UNIQUE INDEX "route_edge_id_match_type_match_key" ON "route"("edge_id", "match_type", "match");

-- CreateIndex
CREATE INDEX "backend_account_id_id_idx" ON "backend"("account_id", "id");

-- CreateIndex
CREATE INDEX "certificate_authority_account_id_id_idx" ON "certificate_authority"("account_id", "id");

-- CreateIndex
CREATE INDEX "event_destination_account_id_id_idx" ON "event_destination"("account_id", "id");

-- CreateIndex
CREATE INDEX "event_subscription_account_id_id_idx" ON "event_subscription"("account_id", "id");

-- CreateIndex
CREATE INDEX "subscription_destination_destination_id_idx" ON "subscription_destination"("destination_id");

-- CreateIndex
CREATE INDEX "tunnel_session_account_id_id_idx" ON "tunnel_session"("account_id", "id");

-- CreateIndex
CREATE INDEX "tunnel_session_node_id_idx" ON "tunnel_session"("node_id");

-- CreateIndex
CREATE INDEX "tunnel_session_credential_id_idx" ON "tunnel_session"("credential_id");

-- CreateIndex
CREATE INDEX "tunnel_account_id_id_idx" ON "tunnel"("account_id", "id");

-- CreateIndex
CREATE INDEX "tunnel_session_id_idx" ON "tunnel"("session_id");

-- CreateIndex
CREATE UNIQUE INDEX "endpoint_tunnel_id_key" ON "endpoint"("tunnel_id");

-- CreateIndex
CREATE INDEX "endpoint_account_id_id_idx" ON "endpoint"("account_id", "id");

-- CreateIndex
CREATE INDEX "endpoint_node_id_idx" ON "endpoint"("node_id");

-- CreateIndex
CREATE INDEX "endpoint_domain_id_idx" ON "endpoint"("domain_id");

-- CreateIndex
CREATE INDEX "idempotent_answer_created_at_idx" ON "idempotent_answer"("created_at");

-- AddForeignKey
ALTER TABLE "owner" ADD CONSTRAINT "owner_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "owner"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "credential" ADD CONSTRAINT "credential_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "owner"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "edge" ADD CONSTRAINT "edge_backend_id_fkey" FOREIGN KEY ("backend_id") REFERENCES "backend"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "edge_hostport" ADD CONSTRAINT "edge_hostport_edge_id_fkey" FOREIGN KEY ("edge_id") REFERENCES "edge"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "edge_hostport" ADD CONSTRAINT "edge_hostport_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "reserved_domain"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "mutual_tls_authority" ADD CONSTRAINT "mutual_tls_authority_edge_id_fkey" FOREIGN KEY ("edge_id") REFERENCES "edge"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "mutual_tls_authority" ADD CONSTRAINT "mutual_tls_authority_authority_id_fkey" FOREIGN KEY ("authority_id") REFERENCES "certificate_authority"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "route" ADD CONSTRAINT "route_edge_id_fkey" FOREIGN KEY ("edge_id") REFERENCES "edge"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "route" ADD CONSTRAINT "route_backend_id_fkey" FOREIGN KEY ("backend_id") REFERENCES "backend"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event_source" ADD CONSTRAINT "event_source_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "event_subscription"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "subscription_destination" ADD CONSTRAINT "subscription_destination_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "event_subscription"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "subscription_destination" ADD CONSTRAINT "subscription_destination_destination_id_fkey" FOREIGN KEY ("destination_id") REFERENCES "event_destination"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tunnel_session" ADD CONSTRAINT "tunnel_session_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "node"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tunnel_session" ADD CONSTRAINT "tunnel_session_credential_id_fkey" FOREIGN KEY ("credential_id") REFERENCES "credential"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tunnel" ADD CONSTRAINT "tunnel_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "tunnel_session"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "endpoint" ADD CONSTRAINT "endpoint_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "node"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "endpoint" ADD CONSTRAINT "endpoint_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "reserved_domain"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "endpoint" ADD CONSTRAINT "endpoint_tunnel_id_fkey" FOREIGN KEY ("tunnel_id") REFERENCES "tunnel"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "idempotent_answer" ADD CONSTRAINT "idempotent_answer_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "owner"("id") ON DELETE CASCADE ON UPDATE CASCADE;
