-- AlterTable
ALTER TABLE "acme_account" ADD COLUMN     "next_private_key" TEXT;
