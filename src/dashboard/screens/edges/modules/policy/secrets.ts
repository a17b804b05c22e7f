// Secrets in policies: nobody can read them, and who sends back what stands for one keeps it.

import type { ModuleSettings } from '../field-kinds.tsx';

/** What the API shows in place of a secret. */
export const MASK = '<secret>';

/** Whether a policy has secrets, by what the API shows of it. */
export function hasSecrets(settings: ModuleSettings): boolean {
  return JSON.stringify(settings).includes(MASK);
}
