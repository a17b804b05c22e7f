-- CreateTable
CREATE TABLE "site" (
    "name" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "site_pkey" PRIMARY KEY ("name")
);
