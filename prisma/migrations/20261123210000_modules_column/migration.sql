-- The modules of an edge or a route stand in one column. It is added, filled and put in place of the old columns by three
-- migrations: CockroachDB and YugabyteDB cannot write to a column in the transaction that adds it.

-- AlterTable
ALTER TABLE "edge" ADD COLUMN     "modules" JSONB NOT NULL DEFAULT '{}';

-- AlterTable
ALTER TABLE "route" ADD COLUMN     "modules" JSONB NOT NULL DEFAULT '{}';
