-- AlterTable
ALTER TABLE "credential" ADD COLUMN     "labels" JSONB NOT NULL DEFAULT '{}',
ADD COLUMN     "previous_digest" TEXT,
ADD COLUMN     "previous_last_used_at" TIMESTAMPTZ(3),
ADD COLUMN     "previous_valid_until" TIMESTAMPTZ(3),
ADD COLUMN     "token_number" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "offline_endpoint" ADD COLUMN     "agent_id" TEXT COLLATE "C";

-- AlterTable
ALTER TABLE "tunnel_session" ADD COLUMN     "agent_id" TEXT COLLATE "C",
ADD COLUMN     "token_number" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "provisioning_key" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "owner_id" TEXT COLLATE "C" NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL DEFAULT '',
    "digest" TEXT NOT NULL,
    "acl" TEXT[],
    "labels" JSONB NOT NULL DEFAULT '{}',
    "uses" INTEGER NOT NULL DEFAULT 0,
    "uses_max" INTEGER,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "provisioning_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "provisioned_device" (
    "provisioning_key_id" TEXT COLLATE "C" NOT NULL,
    "digest" TEXT NOT NULL,
    "credential_id" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "provisioned_device_pkey" PRIMARY KEY ("provisioning_key_id","digest")
);

-- CreateTable
CREATE TABLE "agent" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "identity" TEXT NOT NULL,
    "credential_id" TEXT COLLATE "C",
    "name" TEXT NOT NULL,
    "assigned_name" TEXT,
    "reported_name" TEXT NOT NULL DEFAULT '',
    "host_name" TEXT NOT NULL DEFAULT '',
    "labels" JSONB NOT NULL DEFAULT '{}',
    "assigned_labels" JSONB NOT NULL DEFAULT '{}',
    "reported_labels" JSONB NOT NULL DEFAULT '{}',
    "os" TEXT NOT NULL DEFAULT '',
    "arch" TEXT NOT NULL DEFAULT '',
    "version" TEXT NOT NULL DEFAULT '',
    "user_agent" TEXT NOT NULL DEFAULT '',
    "ip" TEXT NOT NULL DEFAULT '',
    "token_number" INTEGER NOT NULL DEFAULT 0,
    "refusals" JSONB NOT NULL DEFAULT '{}',
    "first_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agent_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "past_session" (
    "id" TEXT COLLATE "C" NOT NULL,
    "agent_id" TEXT COLLATE "C" NOT NULL,
    "node_id" TEXT COLLATE "C" NOT NULL,
    "credential_id" TEXT COLLATE "C",
    "agent_version" TEXT NOT NULL DEFAULT '',
    "ip" TEXT NOT NULL DEFAULT '',
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3) NOT NULL,
    "reason" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "past_session_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "provisioning_key_digest_key" ON "provisioning_key"("digest");

-- CreateIndex
CREATE INDEX "provisioning_key_account_id_id_idx" ON "provisioning_key"("account_id", "id");

-- CreateIndex
CREATE INDEX "provisioning_key_owner_id_idx" ON "provisioning_key"("owner_id");

-- CreateIndex
CREATE UNIQUE INDEX "provisioned_device_credential_id_key" ON "provisioned_device"("credential_id");

-- CreateIndex
CREATE INDEX "agent_account_id_id_idx" ON "agent"("account_id", "id");

-- CreateIndex
CREATE INDEX "agent_credential_id_idx" ON "agent"("credential_id");

-- CreateIndex
CREATE UNIQUE INDEX "agent_account_id_identity_key" ON "agent"("account_id", "identity");

-- CreateIndex
CREATE INDEX "past_session_agent_id_id_idx" ON "past_session"("agent_id", "id");

-- CreateIndex
CREATE INDEX "credential_previous_digest_idx" ON "credential"("previous_digest");

-- CreateIndex
CREATE INDEX "offline_endpoint_agent_id_idx" ON "offline_endpoint"("agent_id");

-- CreateIndex
CREATE INDEX "tunnel_session_agent_id_idx" ON "tunnel_session"("agent_id");

-- AddForeignKey
ALTER TABLE "provisioning_key" ADD CONSTRAINT "provisioning_key_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "owner"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "provisioned_device" ADD CONSTRAINT "provisioned_device_provisioning_key_id_fkey" FOREIGN KEY ("provisioning_key_id") REFERENCES "provisioning_key"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "provisioned_device" ADD CONSTRAINT "provisioned_device_credential_id_fkey" FOREIGN KEY ("credential_id") REFERENCES "credential"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent" ADD CONSTRAINT "agent_credential_id_fkey" FOREIGN KEY ("credential_id") REFERENCES "credential"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "past_session" ADD CONSTRAINT "past_session_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tunnel_session" ADD CONSTRAINT "tunnel_session_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "offline_endpoint" ADD CONSTRAINT "offline_endpoint_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE SET NULL ON UPDATE CASCADE;
