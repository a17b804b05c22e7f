import type { DomainRowFragment } from '../../generated/operations.ts';
import { Tag } from '../../ui/tag.tsx';
import { dnsStates } from './dns-states.ts';

/** What the DNS says of a domain, in a word. */
export function DnsCell({ domain: { id, cnameTarget } }: { domain: DomainRowFragment }) {
  if (cnameTarget === null) return <span class="quiet">no DNS needed</span>;
  const state = dnsStates.value.get(id);
  if (!state) return <span class="quiet">checking DNS …</span>;
  return (
    <span title={state.message}>
      <Tag look={state.isReady ? 'good' : 'warn'}>{state.isReady ? 'DNS right' : 'DNS not right yet'}</Tag>
    </span>
  );
}
