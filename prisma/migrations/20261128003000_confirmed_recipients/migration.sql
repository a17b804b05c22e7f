-- AlterTable
ALTER TABLE "alert_channel" ADD COLUMN     "confirmed_recipients" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- Whoever was told of alerts before goes on being told.
UPDATE "alert_channel" SET "confirmed_recipients" = "recipients" WHERE "kind" = 'EMAIL';
