ALTER TABLE "owner" ADD COLUMN "may_read_bodies" BOOLEAN NOT NULL DEFAULT false;
