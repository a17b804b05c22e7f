// The rules of an IP policy.

import { useState } from 'preact/hooks';
import { objectPath } from '../../../data/routing/paths.ts';
import type { IpPolicyAction } from '../../../generated/operations.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialogs/dialog.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Note } from '../../../ui/feedback/note.tsx';
import { Skeleton } from '../../../ui/feedback/skeleton.tsx';
import { Tag } from '../../../ui/feedback/tag.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Section } from '../../../ui/layout/page.tsx';
import { type Column, Table } from '../../../ui/table/table.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { RuleForm } from './rule-form.tsx';
import { type Rule, useRules } from './use-rules.ts';

const columns: Column<Rule>[] = [
  { key: 'cidr', title: 'Network', width: '2fr', cell: ({ cidr }) => <code>{cidr}</code> },
  { key: 'action', title: 'Visitors are', width: '8rem', cell: ({ action }) => <RuleActionTag action={action} /> },
  { key: 'description', title: 'Description', width: '2fr', cell: ({ description }) => description, priority: 2 },
  {
    key: 'created',
    isLabelled: true,
    title: 'Created',
    width: '8rem',
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
    priority: 3,
  },
];

export function Rules({ policyId }: { policyId: string }) {
  const { rules, error, isTruncated } = useRules(policyId);
  const [isAdding, setAdding] = useState(false);
  return (
    <Section
      title="Rules"
      lead="A visitor is let in when a rule lets in their address and none turns it away. Visitors meet changes at once."
      actions={<Button onClick={() => setAdding(true)}>Add a rule</Button>}
    >
      <ErrorNote error={error} />
      {isTruncated && (
        <Note variant="warn">There are so many rules in the account that not all were looked through.</Note>
      )}
      {rules ? (
        <Table
          label="Rules"
          columns={columns}
          rows={rules}
          href={({ id }) => objectPath('ipPolicyRule', id)}
          empty={<EmptyState title="No rules yet">As long as it has no rule, this policy lets in nobody.</EmptyState>}
        />
      ) : (
        !error && <Skeleton />
      )}
      {isAdding && (
        <Dialog title="Add a rule" onClose={() => setAdding(false)}>
          <RuleForm
            policyId={policyId}
            onDone={() => {
              setAdding(false);
              toast('The rule is added.');
            }}
            onCancel={() => setAdding(false)}
          />
        </Dialog>
      )}
    </Section>
  );
}

export function RuleActionTag({ action }: { action: IpPolicyAction }) {
  return action === 'DENY' ? <Tag variant="bad">turned away</Tag> : <Tag variant="good">let in</Tag>;
}
