import { useRoute } from 'preact-iso/router';

/** A parameter of the current route: `id` for `:id`. */
export function useParam(name: string): string {
  return useRoute().params[name] ?? '';
}
