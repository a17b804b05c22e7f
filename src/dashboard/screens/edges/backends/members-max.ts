/** The most backends that one may name. */
export const MEMBERS_MAX = 16;
