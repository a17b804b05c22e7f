import { type Step, stepsOf } from './state.ts';

/** In words as well as in colours: these are read to people who see none. */
const WORDS: Record<Step['progress'], string> = { done: 'done', current: 'now', failed: 'failed', next: 'to come' };

/** The steps on the way to a certificate, with where it is. */
export function Steps({ certificate }: { certificate: Parameters<typeof stepsOf>[0] }) {
  return (
    <ol class="steps" aria-label="The steps to a certificate">
      {stepsOf(certificate).map(({ title, progress }) => (
        <li key={title} class={`step ${progress}`} aria-current={progress === 'current' ? 'step' : undefined}>
          <span class="step-title">{title}</span>
          <small>{WORDS[progress]}</small>
        </li>
      ))}
    </ol>
  );
}
