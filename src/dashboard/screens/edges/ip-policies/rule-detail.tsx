// The page of a rule of an IP policy.

import { useLocation } from 'preact-iso/router';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { DeleteIpPolicyRule, IpPolicyRule } from '../../../generated/operations.ts';
import { toast } from '../../../ui/feedback/toast.tsx';
import { DetailPage, NotYet } from '../detail-page.tsx';
import { listPaths } from '../navigation.ts';
import { useReferenceTitles } from '../references/references.ts';
import { RuleForm } from './rule-form.tsx';
import { RuleActionTag } from './rules.tsx';

export function IpPolicyRulePage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(IpPolicyRule, { id }, { kinds: ['ipPolicyRule'] });
  const { route } = useLocation();
  const rule = data?.ipPolicyRule;
  const policyId = rule?.ipPolicy.id ?? '';
  const nameOf = useReferenceTitles(rule ? [policyId] : []);
  const crumbs = [{ title: 'IP policies', href: listPaths.ipPolicies }];
  if (!rule) return <NotYet title="Rule" crumbs={crumbs} error={error} refetch={refetch} />;
  const policy = objectPath('ipPolicy', policyId);
  return (
    <DetailPage
      title={rule.cidr}
      badge={<RuleActionTag action={rule.action} />}
      crumbs={[...crumbs, { title: nameOf(policyId), href: policy }]}
      noun="rule"
      id={id}
      remove={DeleteIpPolicyRule}
      consequence="Visitors meet that at once."
    >
      <RuleForm
        key={id}
        policyId={policyId}
        rule={rule}
        onDone={() => {
          toast('The rule is changed.');
          route(policy);
        }}
        onCancel={() => route(policy)}
      />
    </DetailPage>
  );
}
