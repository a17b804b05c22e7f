import { useEffect, useState } from 'preact/hooks';
import { connection } from '../data/live.ts';

/** A short loss, as of a reconnection, isn't worth a word. */
const GRACE_MS = 1500;

const WORDS = {
  live: ['Live', 'What is shown changes as it happens.'],
  connecting: ['Connecting', 'The gateway is being asked; changes may be missing.'],
  lost: ['Not connected', 'The gateway can’t be reached: what is shown may be old.'],
} as const;

/** Whether what is on screen is told of changes. */
export function ConnectionState() {
  const [shown, setShown] = useState(connection.value);
  const now = connection.value;
  useEffect(() => {
    const wait = setTimeout(() => setShown(now), now === 'connecting' ? GRACE_MS : 0);
    return () => clearTimeout(wait);
  }, [now]);
  const [word, title] = WORDS[shown];
  return (
    <span class={`connection ${shown}`} title={title} role="status">
      <span class="connection-mark" aria-hidden="true" />
      <span class="connection-word">{word}</span>
    </span>
  );
}
