import { useEffect, useState } from 'preact/hooks';

/** The text as it was when it last stayed unchanged for `delayMs` milliseconds. */
export function useDebounced(text: string, delayMs: number): string {
  const [debounced, setDebounced] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), delayMs);
    return () => clearTimeout(timer);
  }, [text, delayMs]);
  return debounced;
}
