-- AlterTable
ALTER TABLE "api_key" ADD COLUMN     "last_used_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "password" (
    "owner_id" TEXT COLLATE "C" NOT NULL,
    "hash" TEXT NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "password_pkey" PRIMARY KEY ("owner_id")
);

-- CreateTable
CREATE TABLE "sign_in_link" (
    "digest" TEXT NOT NULL,
    "owner_id" TEXT COLLATE "C" NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_link_pkey" PRIMARY KEY ("digest")
);

-- CreateTable
CREATE TABLE "browser_session" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "owner_id" TEXT COLLATE "C" NOT NULL,
    "digest" TEXT NOT NULL,
    "ip" TEXT NOT NULL DEFAULT '',
    "user_agent" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "browser_session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "offline_endpoint" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "address" TEXT NOT NULL,
    "proto" TEXT NOT NULL,
    "public_url" TEXT NOT NULL,
    "hostport" TEXT NOT NULL,
    "metadata" TEXT NOT NULL DEFAULT '',
    "forwards_to" TEXT NOT NULL DEFAULT '',
    "credential_id" TEXT COLLATE "C",
    "agent_version" TEXT NOT NULL DEFAULT '',
    "ip" TEXT NOT NULL DEFAULT '',
    "os" TEXT NOT NULL DEFAULT '',
    "online_at" TIMESTAMPTZ(3) NOT NULL,
    "offline_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "reason" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "offline_endpoint_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "sign_in_link_owner_id_idx" ON "sign_in_link"("owner_id");

-- CreateIndex
CREATE INDEX "sign_in_link_expires_at_idx" ON "sign_in_link"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "browser_session_digest_key" ON "browser_session"("digest");

-- CreateIndex
CREATE INDEX "browser_session_owner_id_id_idx" ON "browser_session"("owner_id", "id");

-- CreateIndex
CREATE INDEX "browser_session_expires_at_idx" ON "browser_session"("expires_at");

-- CreateIndex
CREATE INDEX "offline_endpoint_account_id_id_idx" ON "offline_endpoint"("account_id", "id");

-- CreateIndex
CREATE INDEX "offline_endpoint_offline_at_idx" ON "offline_endpoint"("offline_at");

-- CreateIndex
CREATE UNIQUE INDEX "offline_endpoint_account_id_address_key" ON "offline_endpoint"("account_id", "address");

-- AddForeignKey
ALTER TABLE "password" ADD CONSTRAINT "password_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "owner"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sign_in_link" ADD CONSTRAINT "sign_in_link_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "owner"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "browser_session" ADD CONSTRAINT "browser_session_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "owner"("id") ON DELETE CASCADE ON UPDATE CASCADE;
