-- AlterTable
ALTER TABLE "event_source" ADD COLUMN     "position" INTEGER NOT NULL DEFAULT 1000000;
