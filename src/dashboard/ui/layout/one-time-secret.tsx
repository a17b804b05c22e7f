import type { ComponentChildren } from 'preact';
import { Button } from '../button.tsx';
import { CodeBlock } from '../text/code-block.tsx';

export interface OneTimeSecretProps {
  /** What it is: `API key`. */
  name: string;
  secret: string;
  /** What can be done with it, as a line to copy. */
  children?: ComponentChildren;
  /** The person has it: the caller forgets the secret. */
  onDismiss: () => void;
}

/** A secret that is shown this once. It is in this element only, and gone with it. */
export function OneTimeSecret({ name, secret, children, onDismiss }: OneTimeSecretProps) {
  return (
    <section class="secret" aria-label={`New ${name}`}>
      <p>
        <strong>This is the only time that the {name} is shown.</strong> The gateway keeps only a digest of it: copy it
        now to where it is needed.
      </p>
      <CodeBlock code={secret} label={`the ${name}`} />
      {children}
      <Button variant="primary" onClick={onDismiss}>
        I have kept it
      </Button>
    </section>
  );
}
