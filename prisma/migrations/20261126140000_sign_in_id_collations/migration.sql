-- Ids sort by their bytes, whatever the locale of the database.
ALTER TABLE "second_factor" ALTER COLUMN "owner_id" TYPE TEXT COLLATE "C";
ALTER TABLE "recovery_code" ALTER COLUMN "owner_id" TYPE TEXT COLLATE "C";
ALTER TABLE "passkey" ALTER COLUMN "credential_id" TYPE TEXT COLLATE "C";
