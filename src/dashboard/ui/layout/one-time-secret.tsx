import type { ComponentChildren } from 'preact';
import { Button } from '../button.tsx';
import { CodeBlock } from '../text/code-block.tsx';

export interface OneTimeSecretProps {
  /** What the secret is: `API key`. */
  name: string;
  secret: string;
  /** Examples of how to use it. */
  children?: ComponentChildren;
  /** The user has copied the secret: the caller has to forget it. */
  onDismiss: () => void;
}

/** Shows a secret once. Only this element contains it, and it is gone when the element is unmounted. */
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
