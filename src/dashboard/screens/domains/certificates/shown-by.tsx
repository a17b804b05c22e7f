import { objectPath } from '../../../data/routing/paths.ts';

/** Links to the domains whose visitors see a certificate. */
export function ShownBy({ domains }: { domains: readonly { id: string; domain: string }[] }) {
  if (domains.length === 0) return <span class="muted">no domain</span>;
  return (
    <>
      {domains.map(({ id, domain }, index) => (
        <span key={id}>
          {index > 0 && ', '}
          <a href={objectPath('reservedDomain', id)}>{domain}</a>
        </span>
      ))}
    </>
  );
}
