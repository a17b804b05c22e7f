-- CreateIndex
CREATE INDEX "agent_account_id_name_id_idx" ON "agent"("account_id", "name", "id");

-- CreateIndex
CREATE INDEX "agent_account_id_version_id_idx" ON "agent"("account_id", "version", "id");

-- CreateIndex
CREATE INDEX "agent_account_id_ip_id_idx" ON "agent"("account_id", "ip", "id");

-- CreateIndex
CREATE INDEX "agent_account_id_last_seen_at_id_idx" ON "agent"("account_id", "last_seen_at", "id");

-- CreateIndex
CREATE INDEX "provisioning_key_account_id_created_at_id_idx" ON "provisioning_key"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "provisioning_key_account_id_description_id_idx" ON "provisioning_key"("account_id", "description", "id");

-- CreateIndex
CREATE INDEX "provisioning_key_account_id_last_used_at_id_idx" ON "provisioning_key"("account_id", "last_used_at", "id");
