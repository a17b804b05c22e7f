// Below the form of a policy: trying it.

import { ApiFailure } from '../../../data/client.ts';
import type { PanelProps } from '../modules/module-form.ts';
import { DryRun } from './dry-run.tsx';

export function PolicyAside({ host, values }: PanelProps) {
  return <DryRun document={() => documentOf(values)} host={host} />;
}

/** What the form says as one document; the older shape has its lists apart. @throws ApiFailure */
function documentOf({ value, inbound, outbound }: PanelProps['values']): string {
  if (value !== undefined) return String(value);
  try {
    const listIn = (text: unknown) => JSON.parse(String(text) || '[]');
    return JSON.stringify({ inbound: listIn(inbound), outbound: listIn(outbound) });
  } catch {
    throw new ApiFailure('The rules above aren’t JSON yet.');
  }
}
