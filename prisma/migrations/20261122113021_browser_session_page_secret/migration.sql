-- Who is signed in without such a secret signs in again.
DELETE FROM "browser_session";

-- AlterTable
ALTER TABLE "browser_session" ADD COLUMN     "page_digest" TEXT NOT NULL;
