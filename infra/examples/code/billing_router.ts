/**
 * BillingRouter: chooses the payment provider for a charge and publishes what became of it.
 * Owner: Payments (Tomas Okafor).
 */

export type Method = "card" | "bank_transfer";
export type ProviderName = "corvid-pay" | "stellapay";

export interface Charge {
  /** Also the idempotency key, from the provider to the receipt (INC-118). */
  chargeNumber: string;
  operatorId: number;
  amountCents: number;
  method: Method;
}

export interface Provider {
  name: ProviderName;
  /** Must treat a repeated charge number as the same charge. */
  settle(charge: Charge, signal: AbortSignal): Promise<void>;
}

export interface Transaction {
  markSettled(chargeNumber: string): Promise<boolean>;
  addToOutbox(event: { type: "charge.settled"; chargeNumber: string }): Promise<void>;
}

export const PROVIDER_TIMEOUT_MS = 10_000;
export const MAX_ATTEMPTS = 5;

/** Cards go to Corvid Pay, bank transfers to Stellapay. */
export function chooseProvider(charge: Charge): ProviderName {
  return charge.method === "card" ? "corvid-pay" : "stellapay";
}

export class BillingRouter {
  constructor(
    private readonly providers: Map<ProviderName, Provider>,
    private readonly inTransaction: (work: (tx: Transaction) => Promise<void>) => Promise<void>,
  ) {}

  /** Settles a charge. Tries again when the provider is slow; publishes `charge.settled` exactly once. */
  async settle(charge: Charge): Promise<void> {
    const provider = this.providers.get(chooseProvider(charge));
    if (!provider) throw new Error(`no provider for ${charge.method}`);
    await this.attempt(provider, charge);
    await this.inTransaction(async (tx) => {
      // False when an earlier attempt has already settled it: then its event is in the outbox as well. Before
      // 26 February 2026 the event was published after each attempt, which sent travellers several receipts.
      if (await tx.markSettled(charge.chargeNumber)) {
        await tx.addToOutbox({ type: "charge.settled", chargeNumber: charge.chargeNumber });
      }
    });
  }

  private async attempt(provider: Provider, charge: Charge): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await provider.settle(charge, AbortSignal.timeout(PROVIDER_TIMEOUT_MS));
      } catch (error) {
        if (attempt >= MAX_ATTEMPTS) throw error;
      }
    }
  }
}
