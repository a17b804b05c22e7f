-- AlterTable
ALTER TABLE "api_key" ADD COLUMN     "expires_at" TIMESTAMPTZ(3),
ADD COLUMN     "scopes" TEXT[] DEFAULT ARRAY[]::TEXT[];
