import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../button.tsx';
import { CodeBlock } from '../text/code-block.tsx';
import { TEXT_COPIED } from '../text/copy-button.tsx';
import { useUnsavedWork } from '../unsaved/unsaved-work.ts';

export interface OneTimeSecretProps {
  /** What the secret is: `API key`. */
  name: string;
  secret: string;
  /** What to do with it; the default is for secrets of which the gateway keeps a digest. */
  advice?: string;
  /** Examples of how to use it. */
  children?: ComponentChildren;
  /** The user has copied the secret: the caller has to forget it. */
  onDismiss: () => void;
}

const DIGEST_ADVICE = 'The gateway keeps only a digest of it: copy it now to where it is needed.';

/** Shows a secret once, and asks before it is lost without having been copied. Only this element contains it, and it is gone when the element is unmounted. */
export function OneTimeSecret({ name, secret, advice = DIGEST_ADVICE, children, onDismiss }: OneTimeSecretProps) {
  const section = useRef<HTMLElement>(null);
  const [isCopied, setCopied] = useState(false);
  useUnsavedWork(!isCopied, {
    kind: 'secret',
    name: `the ${name}`,
    element: () => section.current,
    discard: () => setCopied(true),
  });
  // A secret is copied by a button, alone or within an example, or by selecting it.
  useEffect(() => {
    const element = section.current;
    const takeNote = (text: string) => text.includes(secret) && setCopied(true);
    const onButton = (event: Event) => takeNote(String((event as CustomEvent).detail));
    const onSelection = () => takeNote(String(getSelection()));
    element?.addEventListener(TEXT_COPIED, onButton);
    element?.addEventListener('copy', onSelection);
    return () => {
      element?.removeEventListener(TEXT_COPIED, onButton);
      element?.removeEventListener('copy', onSelection);
    };
  }, [secret]);
  return (
    <section ref={section} class="secret" aria-label={`New ${name}`}>
      <p>
        <strong>This is the only time that the {name} is shown.</strong> {advice}
      </p>
      <CodeBlock code={secret} label={`the ${name}`} />
      {children}
      <Button variant="primary" onClick={onDismiss}>
        I have kept it
      </Button>
    </section>
  );
}
