-- CreateIndex
CREATE INDEX "api_key_account_id_created_at_id_idx" ON "api_key"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "api_key_account_id_description_id_idx" ON "api_key"("account_id", "description", "id");

-- CreateIndex
CREATE INDEX "api_key_account_id_owner_id_id_idx" ON "api_key"("account_id", "owner_id", "id");

-- CreateIndex
CREATE INDEX "api_key_account_id_last_used_at_id_idx" ON "api_key"("account_id", "last_used_at", "id");

-- CreateIndex
CREATE INDEX "backend_account_id_created_at_id_idx" ON "backend"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "backend_account_id_description_id_idx" ON "backend"("account_id", "description", "id");

-- CreateIndex
CREATE INDEX "certificate_authority_account_id_created_at_id_idx" ON "certificate_authority"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "certificate_authority_account_id_description_id_idx" ON "certificate_authority"("account_id", "description", "id");

-- CreateIndex
CREATE INDEX "certificate_authority_account_id_subject_common_name_id_idx" ON "certificate_authority"("account_id", "subject_common_name", "id");

-- CreateIndex
CREATE INDEX "certificate_authority_account_id_not_after_id_idx" ON "certificate_authority"("account_id", "not_after", "id");

-- CreateIndex
CREATE INDEX "credential_account_id_created_at_id_idx" ON "credential"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "credential_account_id_description_id_idx" ON "credential"("account_id", "description", "id");

-- CreateIndex
CREATE INDEX "credential_account_id_owner_id_id_idx" ON "credential"("account_id", "owner_id", "id");

-- CreateIndex
CREATE INDEX "edge_account_id_kind_created_at_id_idx" ON "edge"("account_id", "kind", "created_at", "id");

-- CreateIndex
CREATE INDEX "edge_account_id_kind_description_id_idx" ON "edge"("account_id", "kind", "description", "id");

-- CreateIndex
CREATE INDEX "endpoint_account_id_created_at_id_idx" ON "endpoint"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "endpoint_account_id_public_url_id_idx" ON "endpoint"("account_id", "public_url", "id");

-- CreateIndex
CREATE INDEX "event_destination_account_id_created_at_id_idx" ON "event_destination"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "event_destination_account_id_description_id_idx" ON "event_destination"("account_id", "description", "id");

-- CreateIndex
CREATE INDEX "event_subscription_account_id_created_at_id_idx" ON "event_subscription"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "event_subscription_account_id_description_id_idx" ON "event_subscription"("account_id", "description", "id");

-- CreateIndex
CREATE INDEX "ip_policy_account_id_created_at_id_idx" ON "ip_policy"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "ip_policy_account_id_description_id_idx" ON "ip_policy"("account_id", "description", "id");

-- CreateIndex
CREATE INDEX "ip_policy_rule_account_id_created_at_id_idx" ON "ip_policy_rule"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "ip_policy_rule_account_id_description_id_idx" ON "ip_policy_rule"("account_id", "description", "id");

-- CreateIndex
CREATE INDEX "ip_policy_rule_account_id_cidr_id_idx" ON "ip_policy_rule"("account_id", "cidr", "id");

-- CreateIndex
CREATE INDEX "offline_endpoint_account_id_offline_at_id_idx" ON "offline_endpoint"("account_id", "offline_at", "id");

-- CreateIndex
CREATE INDEX "offline_endpoint_account_id_public_url_id_idx" ON "offline_endpoint"("account_id", "public_url", "id");

-- CreateIndex
CREATE INDEX "owner_account_id_kind_created_at_id_idx" ON "owner"("account_id", "kind", "created_at", "id");

-- CreateIndex
CREATE INDEX "reserved_domain_account_id_created_at_id_idx" ON "reserved_domain"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "reserved_domain_account_id_description_id_idx" ON "reserved_domain"("account_id", "description", "id");

-- CreateIndex
CREATE INDEX "reserved_domain_account_id_domain_id_idx" ON "reserved_domain"("account_id", "domain", "id");

-- CreateIndex
CREATE INDEX "tls_certificate_account_id_created_at_id_idx" ON "tls_certificate"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "tls_certificate_account_id_description_id_idx" ON "tls_certificate"("account_id", "description", "id");

-- CreateIndex
CREATE INDEX "tls_certificate_account_id_not_after_id_idx" ON "tls_certificate"("account_id", "not_after", "id");

-- CreateIndex
CREATE INDEX "tunnel_account_id_started_at_id_idx" ON "tunnel"("account_id", "started_at", "id");

-- CreateIndex
CREATE INDEX "tunnel_account_id_public_url_id_idx" ON "tunnel"("account_id", "public_url", "id");

-- CreateIndex
CREATE INDEX "tunnel_session_account_id_started_at_id_idx" ON "tunnel_session"("account_id", "started_at", "id");

-- CreateIndex
CREATE INDEX "tunnel_session_account_id_ip_id_idx" ON "tunnel_session"("account_id", "ip", "id");

-- CreateIndex
CREATE INDEX "tunnel_session_account_id_agent_version_id_idx" ON "tunnel_session"("account_id", "agent_version", "id");
