-- CreateTable
CREATE TABLE "app_user" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "name" TEXT NOT NULL DEFAULT '',
    "email" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_login_at" TIMESTAMPTZ(3) NOT NULL,
    "last_active_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "app_user_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "app_session" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "user_id" TEXT COLLATE "C" NOT NULL,
    "digest" TEXT NOT NULL,
    "site" TEXT NOT NULL,
    "terms" TEXT NOT NULL,
    "endpoint_id" TEXT COLLATE "C" NOT NULL,
    "public_url" TEXT NOT NULL,
    "ip" TEXT NOT NULL DEFAULT '',
    "user_agent" TEXT NOT NULL DEFAULT '',
    "sealed" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 0,
    "checked_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_active_at" TIMESTAMPTZ(3) NOT NULL,
    "idle_ends_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "renewed_until" TIMESTAMPTZ(3),

    CONSTRAINT "app_session_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "app_user_account_id_id_idx" ON "app_user"("account_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "app_user_account_id_issuer_subject_key" ON "app_user"("account_id", "issuer", "subject");

-- CreateIndex
CREATE UNIQUE INDEX "app_session_digest_key" ON "app_session"("digest");

-- CreateIndex
CREATE INDEX "app_session_account_id_id_idx" ON "app_session"("account_id", "id");

-- CreateIndex
CREATE INDEX "app_session_user_id_id_idx" ON "app_session"("user_id", "id");

-- CreateIndex
CREATE INDEX "app_session_expires_at_idx" ON "app_session"("expires_at");

-- CreateIndex
CREATE INDEX "app_session_idle_ends_at_idx" ON "app_session"("idle_ends_at");

-- AddForeignKey
ALTER TABLE "app_session" ADD CONSTRAINT "app_session_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;
