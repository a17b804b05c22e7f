-- AlterTable
ALTER TABLE "tunnel" ADD COLUMN     "name" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "upstream_protocol" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "edge" ADD COLUMN     "name" TEXT NOT NULL DEFAULT '';
