import type { ComponentChildren } from 'preact';
import { Button } from '../button.tsx';
import { CodeBlock } from '../text/code-block.tsx';

export interface SecretProps {
  /** What it is: `API key`. */
  name: string;
  secret: string;
  /** What can be done with it, as a line to copy. */
  children?: ComponentChildren;
  /** The person has it: the caller forgets the secret. */
  onKept: () => void;
}

/** A secret that is shown this once. It is in this element only, and gone with it. */
export function Secret({ name, secret, children, onKept }: SecretProps) {
  return (
    <section class="secret" aria-label={`New ${name}`}>
      <p>
        <strong>This is the only time that the {name} is shown.</strong> The gateway keeps only a digest of it: copy it
        now to where it is needed.
      </p>
      <CodeBlock code={secret} what={`the ${name}`} />
      {children}
      <Button look="primary" onClick={onKept}>
        I have kept it
      </Button>
    </section>
  );
}
