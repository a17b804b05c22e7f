// Telling caches by which request fields a response was chosen (RFC 9110, section 12.5.5).

import type { HeaderList } from './header-list.ts';

/** Names a request field in `Vary`, unless it is named there. @param name as it is usually written. */
export function addVary(fields: HeaderList, name: string): void {
  const named = fields.all('vary').flatMap((value) => value.split(',').map((one) => one.trim().toLowerCase()));
  if (!named.includes('*') && !named.includes(name.toLowerCase())) fields.add('Vary', name);
}
