import type { Option } from '../../ui/forms/choice-fields.tsx';

export type Role = 'admin' | 'member';

export const roles: readonly (Option & { value: Role })[] = [
  { value: 'member', title: 'Member' },
  { value: 'admin', title: 'Admin' },
];
