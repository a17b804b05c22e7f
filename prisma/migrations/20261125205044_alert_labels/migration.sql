-- AlterTable
ALTER TABLE "alert_rule" ADD COLUMN     "label" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "alert_silence" ADD COLUMN     "label" TEXT NOT NULL DEFAULT '';
