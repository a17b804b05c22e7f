// Until when the certificates of the domains of a list last.

import { signal } from '@preact/signals';
import { run } from '../../data/client.ts';
import { CertificateEnds } from '../../generated/operations.ts';

/** By the ids of certificates. They stay for good, so that each is asked for once. */
const known = signal<ReadonlyMap<string, string>>(new Map());
const asked = new Set<string>();

export const certificateEnds = {
  of: (id: string): string | undefined => known.value.get(id),
  /** Has those asked for that aren't known. */
  want(ids: readonly string[]): void {
    const missing = [...new Set(ids)].filter((id) => !asked.has(id));
    if (missing.length === 0) return;
    for (const id of missing) asked.add(id);
    run(CertificateEnds, { ids: missing }).then(
      ({ nodes }) => {
        const found = (nodes ?? []).flatMap((node) =>
          node && 'notAfter' in node ? [[node.id, node.notAfter] as const] : [],
        );
        known.value = new Map([...known.value, ...found]);
      },
      () => {
        for (const id of missing) asked.delete(id);
      },
    );
  },
};
