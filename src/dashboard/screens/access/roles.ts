import type { Option } from '../../ui/forms/choice-fields.tsx';

export type Role = 'ADMIN' | 'MEMBER';

export const roles: readonly (Option & { value: Role })[] = [
  { value: 'MEMBER', title: 'Member' },
  { value: 'ADMIN', title: 'Admin' },
];
