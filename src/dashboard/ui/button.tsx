import type { ComponentChildren } from 'preact';

export interface ButtonProps {
  children: ComponentChildren;
  onClick?: () => void;
  type?: 'button' | 'submit';
  /** `primary`: what one came for; `danger`: can't be undone; `plain`: beside text. */
  look?: 'primary' | 'normal' | 'danger' | 'plain';
  isBusy?: boolean;
  isDisabled?: boolean;
  /** What a screen reader says where the text alone would not tell. */
  label?: string;
}

/** A button. While it is busy it stays where it is, and can't be pressed again. */
export function Button({
  children,
  onClick,
  type = 'button',
  look = 'normal',
  isBusy,
  isDisabled,
  label,
}: ButtonProps) {
  const isStill = Boolean(isBusy || isDisabled);
  return (
    <button
      type={type}
      class={`button ${look}`}
      aria-label={label}
      aria-disabled={isStill}
      aria-busy={isBusy || undefined}
      onClick={(event) => {
        if (isStill) event.preventDefault();
        else onClick?.();
      }}
    >
      {children}
    </button>
  );
}

export interface LinkButtonProps {
  children: ComponentChildren;
  href: string;
  look?: ButtonProps['look'];
}

/** A link to another place that looks like a button. */
export function LinkButton({ children, href, look = 'normal' }: LinkButtonProps) {
  return (
    <a class={`button ${look}`} href={href}>
      {children}
    </a>
  );
}
