-- AlterTable
ALTER TABLE "backend" ADD COLUMN     "written_address" TEXT;

-- AlterTable
ALTER TABLE "edge_hostport" ADD COLUMN     "written" TEXT;

-- AlterTable
ALTER TABLE "ip_policy_rule" ADD COLUMN     "written_cidr" TEXT;

-- AlterTable
ALTER TABLE "reserved_domain" ADD COLUMN     "written_domain" TEXT;

-- AlterTable
ALTER TABLE "tls_certificate" ADD COLUMN     "written_pem" TEXT;
