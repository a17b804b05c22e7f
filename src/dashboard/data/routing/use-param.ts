import { useRoute } from 'preact-iso/router';

/** A part of the address: `:id` of the route. */
export function useParam(name: string): string {
  return useRoute().params[name] ?? '';
}
