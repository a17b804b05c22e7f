-- CreateTable
CREATE TABLE "kubernetes_operator" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" TEXT COLLATE "C" NOT NULL,
    "created_by" TEXT COLLATE "C" NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL DEFAULT '',
    "enabled_features" TEXT[],
    "region" TEXT NOT NULL DEFAULT '',
    "deployment_name" TEXT NOT NULL DEFAULT '',
    "deployment_namespace" TEXT NOT NULL DEFAULT '',
    "deployment_version" TEXT NOT NULL DEFAULT '',
    "cluster_name" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "kubernetes_operator_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "kubernetes_operator_account_id_id_idx" ON "kubernetes_operator"("account_id", "id");

-- CreateIndex
CREATE INDEX "kubernetes_operator_account_id_created_at_id_idx" ON "kubernetes_operator"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "kubernetes_operator_account_id_description_id_idx" ON "kubernetes_operator"("account_id", "description", "id");
