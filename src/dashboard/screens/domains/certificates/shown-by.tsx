import { objectPath } from '../../../data/routing/paths.ts';

interface ShownDomains {
  nodes: readonly { id: string; domain: string }[];
  totalCount: number;
}

/** Links to the domains whose visitors see a certificate. */
export function ShownBy({ domains: { nodes, totalCount } }: { domains: ShownDomains }) {
  if (nodes.length === 0) return <span class="muted">no domain</span>;
  return (
    <>
      {nodes.map(({ id, domain }, index) => (
        <span key={id}>
          {index > 0 && ', '}
          <a href={objectPath('reservedDomain', id)}>{domain}</a>
        </span>
      ))}
      {totalCount > nodes.length && ` and ${totalCount - nodes.length} more`}
    </>
  );
}
