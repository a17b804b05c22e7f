// Secrets in policies: the API shows a mask in their place, and the mask in an input keeps the secret.

import type { ModuleSettings } from '../field-kinds.tsx';

/** The mask that the API shows in place of a secret. */
export const MASK = '<secret>';

/** Whether the settings of a policy contain masked secrets. */
export function hasSecrets(settings: ModuleSettings): boolean {
  return JSON.stringify(settings).includes(MASK);
}
