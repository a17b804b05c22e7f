-- CreateTable
CREATE TABLE "audit_entry" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "source" TEXT NOT NULL,
    "actor_id" TEXT COLLATE "C" NOT NULL DEFAULT '',
    "actor_subject" TEXT NOT NULL DEFAULT '',
    "credential_id" TEXT COLLATE "C" NOT NULL DEFAULT '',
    "ip" TEXT NOT NULL DEFAULT '',
    "user_agent" TEXT NOT NULL DEFAULT '',
    "operation_id" TEXT COLLATE "C" NOT NULL DEFAULT '',
    "action" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "object_id" TEXT COLLATE "C" NOT NULL DEFAULT '',
    "object_name" TEXT NOT NULL DEFAULT '',
    "before" JSON,
    "after" JSON,
    "is_hidden_changed" BOOLEAN NOT NULL DEFAULT false,
    "words" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "audit_entry_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "audit_entry_account_id_id_words_idx" ON "audit_entry"("account_id", "id", "words");

-- CreateIndex
CREATE INDEX "audit_entry_account_id_actor_id_id_idx" ON "audit_entry"("account_id", "actor_id", "id");

-- CreateIndex
CREATE INDEX "audit_entry_account_id_object_id_id_idx" ON "audit_entry"("account_id", "object_id", "id");

-- CreateIndex
CREATE INDEX "audit_entry_account_id_kind_id_idx" ON "audit_entry"("account_id", "kind", "id");

-- CreateIndex
CREATE INDEX "audit_entry_account_id_action_id_idx" ON "audit_entry"("account_id", "action", "id");
