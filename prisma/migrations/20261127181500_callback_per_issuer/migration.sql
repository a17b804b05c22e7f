-- CreateTable
CREATE TABLE "shared_callback" (
    "account_id" TEXT COLLATE "C" NOT NULL,
    "issuer" TEXT NOT NULL,

    CONSTRAINT "shared_callback_pkey" PRIMARY KEY ("account_id","issuer")
);

-- Who has visitors by now has registered the shared address at the provider.
INSERT INTO "shared_callback" ("account_id", "issuer")
SELECT DISTINCT "account_id", "issuer" FROM "app_user";
